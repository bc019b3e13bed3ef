"""What results look like as text. Pure: results in, lines out; notes go to the surface's stderr."""

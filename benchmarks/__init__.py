"""Speed and memory, measured by hand: ratios to a floor or a peer in the same run, never a timed test."""

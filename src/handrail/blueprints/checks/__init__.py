"""What is checked of a blueprint that is well formed: one module a subject, each a function from it to findings."""

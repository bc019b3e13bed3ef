"""The commands: each module is one and holds it as ``COMMAND``; a ``_`` in its name is a ``-`` in the command's.

A module here imports what it needs at once only when that is light: ``handrail --help`` loads them all.
"""

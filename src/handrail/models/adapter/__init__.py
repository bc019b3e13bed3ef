"""The one adapter over the provider library: canonical messages out, canonical replies in.

Importing any module of it loads the library, which takes seconds; ``handrail.models.names`` does so when a model is
asked for by name.
"""

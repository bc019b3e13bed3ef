"""Talking to a model: one port, one adapter over a provider library, a scripted and a replaying model.

``port`` says what a model is; ``scripted`` and ``replay`` need nothing else. ``names`` gives a model for a name and
is what loads a provider library, which takes seconds: nothing here does so when it is imported.
"""

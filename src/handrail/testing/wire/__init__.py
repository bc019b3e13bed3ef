"""Providers played on this machine: a loopback HTTP server and what each provider's API puts on the wire.

``server`` serves, ``turns`` says what is to be answered in our own words, and one module a provider spells that as
the provider's published format does; each names its source. Nothing here leaves the machine.
"""

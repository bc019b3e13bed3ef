"""The test kit that ships with Handrail: what an author of a harness, tool or store runs over their own work.

* ``contracts``: one numbered suite per port; each rule is a plain function that raises ``AssertionError``.
* ``hostile``: the bytes that real disks hold and that no writer would write.
* ``strategies``: hypothesis strategies for canonical sessions, spans and native bytes.
* ``differences``: what two canonical sessions differ in, and whether a ``Loss`` accounts for it.
* ``builders``: small writers of native sessions as the tools themselves write them.
* ``clock``: a clock that is moved by hand.

The product never imports this package. ``contracts`` and ``strategies`` need ``hypothesis`` to be installed.
"""

"""One numbered suite per port, to run over every implementation, ours and yours.

A suite is a tuple of ``Rule``; a rule's ``check`` takes what it is to judge and raises ``AssertionError`` saying
what broke. With pytest::

    from handrail.testing.contracts.codec import CODEC_RULES, CodecCase

    @pytest.mark.parametrize("rule", CODEC_RULES, ids=str)
    def test_my_codec(rule):
        rule.check(CodecCase(my_harness, samples=(my_bytes,)))

``handrail.testing.contracts.codec`` judges codecs, ``handrail.testing.contracts.store`` stores and
``handrail.testing.contracts.tool`` tools, ``handrail.testing.contracts.edge`` kinds of edges (both need the extra
``agents``).
"""

from handrail.testing.contracts.rules import Rule

__all__ = ["Rule"]

"""What must not leave the machine, and what must."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.transcripts.redact import redact

LETTERS = "abcdefghijKLMNOPQRSTuvwxyz0123456789"

SECRETS = {
    "private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\ndef\n-----END RSA PRIVATE KEY-----",
    "cut private key": "-----BEGIN OPENSSH PRIVATE KEY-----\nMIIabc\ndef",
    "cloud key": "AKIA" + "ABCDEFGHIJKLMNOP",
    "map key": "AIza" + LETTERS[:35],
    "model key": "sk-ant-" + LETTERS,
    "other model key": "sk-" + LETTERS,
    "forge token": "ghp_" + LETTERS,
    "fine forge token": "github_pat_" + LETTERS,
    "package token": "npm_" + LETTERS,
    "chat token": "xoxb-" + "1234567890-abcdef",
    "payment key": "sk_live_" + LETTERS[:24],
    "json token": "eyJhbGciOiJI." + "eyJzdWIiOiIx" + ".sflKxwRJSMeKKF2QT4",
    "mail key": "SG." + LETTERS[:22] + "." + LETTERS,
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_keys_are_taken_out_wherever_they_stand(secret: str) -> None:
    for text in (secret, f"use {secret} please", f'{{"k": "{secret}"}}', f"KEY={secret}\nnext"):
        redacted = redact(text).text
        assert secret not in redacted
        assert "[redacted: " in redacted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abcdef0123456789xyz", "Authorization: [redacted: token]"),
        ("postgres://app:hunter2@db/x", "postgres://app:[redacted: password]@db/x"),
        ("DB_PASSWORD=hunter2 make", "DB_PASSWORD=[redacted: password] make"),
        ('"client_secret": "s3cr3t-value"', '"client_secret": "[redacted: password]"'),
        ("login --password hunter2", "login --password [redacted: password]"),
        ("mail ada@example.org now", "mail [redacted: mail address] now"),
        ("/home/ada/src/x.py", "/home/[redacted: account]/src/x.py"),
        ("/Users/ada/src", "/Users/[redacted: account]/src"),
        (r"C:\Users\ada\src", r"C:\Users\[redacted: account]\src"),
        ("ssh 10.1.2.3", "ssh [redacted: address]"),
        ("call +49 30 1234 5678", "call [redacted: phone number]"),
    ],
)
def test_what_stands_round_a_secret_is_kept(text: str, expected: str) -> None:
    assert redact(text).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "use tabs, not spaces",
        "the password field is too small",
        "rename token to session in auth.py",
        "version 1.2.3 on 127.0.0.1:8080",
        "commit 3f9b035a016397fdbf121",
        "add @property above it",
        "3 tokens per line: a, b, c",
    ],
)
def test_ordinary_words_are_left_alone(text: str) -> None:
    assert redact(text) == (text, {})


def test_kinds_are_counted() -> None:
    assert redact("a@x.org b@x.org 10.0.0.1").found == {"mail address": 2, "address": 1}


@given(st.text(max_size=300))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


@given(st.text(alphabet=string.printable, max_size=200), st.text(alphabet=string.printable, max_size=200))
def test_a_key_is_found_in_any_surroundings(before: str, after: str) -> None:
    key = "ghp_" + LETTERS
    assert key not in redact(f"{before}{key} {after}").text

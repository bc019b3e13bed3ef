"""A model for a name: the only place that loads a provider library, and only when a model is asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from handrail.errors import MissingExtra
from handrail.models.endpoints import endpoint_of
from handrail.models.port import Model

LOCAL = "local"
"""The name of the small model that runs on this machine."""

SCRIPTED = "scripted:"
"""What stands before the path of a script, for a model that plays it."""


def model_from_name(
    name: str, *, base_url: str | None = None, api_key: str | None = None, environ: Mapping[str, str] | None = None
) -> Model:
    """The model called ``PROVIDER:MODEL``, ``local`` for the small offline one, ``scripted:FILE`` for a played script.

    ``base_url`` sends it to another server that speaks the provider's API; keys come from ``api_key``, else from
    ``environ`` (None: the process's own). Takes seconds the first time. Raises ``UnknownName`` for a name that is
    none, ``BadKey`` when there is no key, ``MissingExtra`` when the library is not installed; for a script also as
    ``load_script``.
    """
    environ = os.environ if environ is None else environ
    if name == LOCAL:
        from handrail.models.local import LocalModel

        return LocalModel(environ=environ)
    if name.startswith(SCRIPTED):
        from handrail.models.script_file import load_script
        from handrail.models.scripted import ScriptedModel

        return ScriptedModel(load_script(Path(name.removeprefix(SCRIPTED))))
    endpoint = endpoint_of(name, base_url=base_url, key=api_key, environ=environ)
    try:
        from handrail.models.adapter.model import AdaptedModel

        return AdaptedModel(endpoint)
    except ImportError as problem:
        raise MissingExtra(
            f"{name} needs the provider library: {problem}", hint="pip install 'handrail[agents]'"
        ) from problem

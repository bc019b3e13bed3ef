"""Telling other programs that a question waits, falls due or is closed, and that a run has finished.

Nothing is sent unless somebody named where to. What is to be told stands in the outbox of the database, so a process
that dies between two tries costs no notice; whoever runs next sends it, under the same id.
"""

from __future__ import annotations

from handrail.runs.webhooks.endpoints import TOPICS as TOPICS
from handrail.runs.webhooks.endpoints import BadWebhooks as BadWebhooks
from handrail.runs.webhooks.endpoints import Endpoint as Endpoint
from handrail.runs.webhooks.endpoints import endpoint as endpoint
from handrail.runs.webhooks.endpoints import load_endpoints as load_endpoints
from handrail.runs.webhooks.sending import Delivery as Delivery
from handrail.runs.webhooks.sending import Sender as Sender
from handrail.runs.webhooks.signing import is_signed as is_signed
from handrail.runs.webhooks.signing import signature as signature

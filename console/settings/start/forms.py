"""What an admin enters for the first agent."""

from __future__ import annotations

from django import forms

from console.forms import TypedText
from reviews.administration.agents.schemas import AgentName


class FirstAgentForm(forms.Form):
    name = TypedText(AgentName, missing="Give the agent a name, such as my-agent.")

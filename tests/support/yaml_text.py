"""Documents of YAML, read by libyaml where Python has it: that takes a tenth of the time."""

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(text):
    return yaml.load(text, LOADER)


def load_all(text):
    return yaml.load_all(text, LOADER)

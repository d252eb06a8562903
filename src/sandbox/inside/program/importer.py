"""Serves the synthetic package `skills`: `from skills.salesforce.leads.sync import main` (C-5.4)."""

from __future__ import annotations

import sys
from _frozen_importlib import ModuleSpec
from keyword import iskeyword
from types import ModuleType

from entry import find_function
from skill_space import SkillSpace, find_in_spaces, teach_import_module, to_prefix

_NAMES_TOLD = 10


class SkillImporter:
    """A finder for `sys.meta_path`. `stub(name)` returns the function for a brokered skill (C-5.5)."""

    def __init__(self, skills: list, brokered: list, directory: str, stub, remedy: str):
        self._remedy = remedy
        self._directory = directory
        self._skills = {one["name"]: one.get("entry") for one in skills}
        self._stubs = {name: stub(name) for name in brokered}
        self._names = {}
        for name in [*self._skills, *self._stubs]:
            self._names.setdefault(to_module(name), name)
        self._packages = {"skills"}
        for module in self._names:
            steps = module.split(".")
            self._packages.update(".".join(steps[: count + 1]) for count in range(len(steps)))
        self._spaces: dict = {}

    def install(self) -> None:
        sys.meta_path.insert(0, self)
        if any(entry is not None for entry in self._skills.values()):
            teach_import_module(self._spaces)

    def find_spec(self, fullname: str, path=None, target=None):
        if fullname != "skills" and not fullname.startswith("skills."):
            return find_in_spaces(self._spaces, fullname)
        if fullname in self._packages:
            return ModuleSpec(fullname, _PackageLoader(self), is_package=True)
        wanted = fullname[len("skills.") :]
        # `from package import name` ignores a ModuleNotFoundError of this name, and then reports that `name` is
        # missing: right for a skill, but for a mere prefix our message is better.
        name = fullname if fullname.rpartition(".")[0] in self._names else wanted
        raise ModuleNotFoundError(self._not_mounted(wanted), name=name)

    def function_of(self, name: str):
        """The function of a skill, by canonical name or slug."""
        slug = name.replace(".", "-")
        for one in [*self._skills, *self._stubs]:
            if one.replace(".", "-") == slug:
                if one in self._stubs:
                    return self._stubs[one]
                return self.export_of(one)
        raise ModuleNotFoundError(self._not_mounted(name), name=name)

    def export_of(self, name: str):
        """The entrypoint of a mounted skill; executes its module if it was not imported yet."""
        module = self._entry_module(name)
        entry = self._skills[name]
        return find_function(vars(module), entry["export"], f"/skills/{name}/{entry['file']}")

    def attribute(self, module: str, attribute: str):
        """A missing attribute of a package below `skills`."""
        child = f"{module}.{attribute}"
        if child in self._packages:
            __import__(child)
            return sys.modules[child]
        name = self._names.get(module)
        if name is None or (attribute.startswith("__") and attribute != "__all__"):
            raise AttributeError(f"module {module!r} has no attribute {attribute!r}")
        if name in self._stubs:
            return ["main"] if attribute == "__all__" else self._stubs[name]
        return self._entry_attribute(name, attribute)

    def _entry_module(self, name: str) -> ModuleType:
        entry = self._skills[name]
        if entry is None:
            raise ImportError(f"The skill {name} has no entrypoint. Read its files in /skills/{name}/ instead of importing it.")
        prefix = to_prefix(name)
        if prefix not in self._spaces:
            self._spaces[prefix] = SkillSpace(prefix, entry["file"], f"{self._directory}/{name}", f"/skills/{name}")
        entry_module = self._spaces[prefix].entry
        __import__(entry_module)
        return sys.modules[entry_module]

    def _entry_attribute(self, name: str, attribute: str):
        try:
            module = self._entry_module(name)
        except AttributeError as error:
            # Python would report it as a missing attribute.
            raise ImportError(f"The skill {name} cannot be imported: {error}") from error
        if attribute == "__all__" and not hasattr(module, "__all__"):
            return [one for one in vars(module) if not one.startswith("_")]
        return getattr(module, attribute)

    def _not_mounted(self, wanted: str) -> str:
        mounted = [*self._skills, *self._stubs]
        told = ", ".join(mounted[:_NAMES_TOLD]) + (", …" if len(mounted) > _NAMES_TOLD else "")
        return f"No skill {wanted!r} is mounted. Mounted: {told or 'none'}. {self._remedy}"


def to_module(name: str) -> str:
    """The module of a skill: `2.pdf-tools.import` is `skills._2.pdf_tools.import_`."""
    return ".".join(["skills", *map(_to_identifier, name.split("."))])


def _to_identifier(segment: str) -> str:
    segment = "".join(letter if ("a" + letter).isidentifier() else "_" for letter in segment)
    if iskeyword(segment):
        return segment + "_"
    return segment if segment.isidentifier() else "_" + segment


class _Package(ModuleType):
    """`skills` or a package below it. A skill is not executed before an attribute is accessed."""

    def __getattr__(self, attribute: str):
        return self.__spec__.loader.importer.attribute(self.__name__, attribute)


class _PackageLoader:
    def __init__(self, importer: SkillImporter):
        self.importer = importer

    def create_module(self, spec) -> ModuleType:
        return _Package(spec.name)

    def exec_module(self, module) -> None:
        pass

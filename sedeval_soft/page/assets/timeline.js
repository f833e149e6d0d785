SED.section("timeline", {
  show(system) {},
});

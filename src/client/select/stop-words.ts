/** English words that say nothing about what a skill does, and words that most descriptions of skills contain. */
export const stopWords: ReadonlySet<string> = /* @__PURE__ */ new Set(
  (
    "a about after all also an and any are as at be been before but by can could did do does for from get give go had has have he " +
    "help her his how i if in into is it its just know let like make me more my need new no not now of on one only or our out over " +
    "please put she should show so some such take tell than that the their them then there these they this to up us use used user " +
    "using very want was we well were what when where which while who why will with would you your"
  ).split(" "),
);

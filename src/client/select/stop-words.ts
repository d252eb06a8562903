/** English words that say nothing about what a skill does, and words that most descriptions of skills contain. */
export const stopWords: ReadonlySet<string> = /* @__PURE__ */ new Set(
  (
    "a about all also an and any are as at be but by can could do does for from get has have help how i if in into is it its just let " +
    "like make me my need no not of on or our put should so some than that the their them there these they this to " +
    "us use used using want was we what when where which who why will with would you your"
  ).split(" "),
);

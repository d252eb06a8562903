/**
 * Characters that draw nothing, or reorder what a person reads, as the inside of a character class (flag `u`): controls, formats, lone
 * surrogates, separators of lines, and all that Unicode ignores by default, such as fillers. Some file systems ignore these in names.
 */
export const unseenCharacters = String.raw`\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}`;

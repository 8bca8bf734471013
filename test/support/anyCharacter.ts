import fc from 'fast-check';

/** Generates any character of Unicode. fast-check's own arbitrary needs a second to load its tables. */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));

import fc from 'fast-check';

/** Any character of Unicode. The arbitrary of fast-check takes a second to load its tables. */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));

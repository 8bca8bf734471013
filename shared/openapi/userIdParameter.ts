import { z } from 'zod';

const longest = 200;

/** The id of a user as it may stand in a path (contract 6.1); runes are characters as JSON Schema counts them. */
export const userIdParameter = z
  .string()
  .refine((id) => id !== '' && [...id].length <= longest)
  .meta({
    minLength: 1,
    maxLength: longest,
    description: 'The user whose factor is to be removed; percent-encoded, `/` too.',
  });

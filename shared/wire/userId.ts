import { z } from 'zod';

const MAX_CHARACTERS = 200;

/** A user id in the path (zitadel 6.1). Its length is counted in code points, as in JSON Schema. */
export const userIdParameter = z
  .string()
  .refine((id) => id !== '' && [...id].length <= MAX_CHARACTERS)
  .meta({ minLength: 1, maxLength: MAX_CHARACTERS, description: "The user's id, percent-encoded including `/`." });

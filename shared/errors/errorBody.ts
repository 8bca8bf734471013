import { z } from 'zod';
import { codes } from './code.ts';

const numbers = Object.entries(codes).map(([name, { number }]) => `${number} ${name}`);

/** The error body of the interface (2.3, contract 6.4). */
export const errorBody = z
  .strictObject({
    code: z.int32().meta({ description: `A gRPC status code: ${numbers.join(', ')}.` }),
    message: z.string(),
    details: z
      .array(z.looseObject({ '@type': z.string() }))
      .readonly()
      .optional()
      .meta({ description: 'Left out where there are none; `@type` names the shape of each.' }),
  })
  .readonly()
  .meta({ id: 'Error', description: 'What went wrong, and where the request can be mended.' });

/** An error as it is answered. */
export type ErrorBody = z.output<typeof errorBody>;

/** One entry of an error body's `details`. */
export type ErrorDetail = NonNullable<ErrorBody['details']>[number];

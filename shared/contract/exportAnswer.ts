import { z } from 'zod';
import type { WrittenObject } from '../bucket/bucket.ts';
import { exportFile } from './exportFile.ts';
import { manifestSchema } from './manifest.ts';

const writtenObject = z
  .strictObject({
    bucket: z.string(),
    path: z.string(),
    generation: z.string().describe('Names this content of the object for good.'),
    size: z.int().nonnegative().describe('Bytes.'),
    crc32c: z.string().describe('CRC32C, base64 of four bytes.'),
  })
  .readonly() satisfies z.ZodType<WrittenObject>;

/** The answer of an export (interface 4.2): the file, or where it went to a bucket only, what was written. */
export const exportAnswer = z.union([
  exportFile,
  z.strictObject({ manifest: manifestSchema, object: writtenObject }).meta({ id: 'ExportedObject' }),
]);

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeRequest } from '../../../shared/openapi/jsonSchema.ts';
import { refusedField, requestMessage } from '../../../shared/wire/requestMessage.ts';

describe('the description of a request', () => {
  const message = requestMessage({
    dryRun: z.boolean().default(false),
    onConflict: z.enum(['report', 'skip']).default('report'),
    inner: requestMessage({ someText: z.string().default('') })
      .meta({ required: ['someText'] })
      .optional(),
    localOutput: refusedField,
  });
  const schema = describeRequest(message, { properties: { more: {} }, anyOf: [{ required: ['more'] }] });

  it('has the names of the interface', () => {
    expect(Object.keys(schema.properties ?? {})).toEqual(['dry_run', 'on_conflict', 'inner', 'more']);
  });

  it('has null for every field that may be left out', () => {
    expect(schema.properties).toMatchObject({
      dry_run: { type: ['boolean', 'null'], default: false },
      on_conflict: { enum: ['report', 'skip', null] },
      inner: { type: ['object', 'null'] },
    });
  });

  it('has fields that are required as they are, without a default', () => {
    expect(schema.properties?.inner).toMatchObject({
      required: ['some_text'],
      properties: { some_text: { type: 'string' } },
    });
    expect(JSON.stringify(schema.properties?.inner)).not.toContain('default');
  });

  it('has what belongs together', () => {
    expect(schema.anyOf).toEqual([{ required: ['more'] }]);
  });
});

import type { z } from 'zod';

const expectedTypes: ReadonlyMap<string, string> = new Map([
  ['object', 'an object'],
  ['record', 'an object'],
  ['array', 'a list'],
  ['string', 'text'],
  ['boolean', 'true or false'],
  ['number', 'a number'],
  ['int', 'a whole number'],
]);

/**
 * Describes what a schema expects instead of an invalid value.
 * @example schemaIssueReason(issue); // 'expected a list'
 */
export function schemaIssueReason(issue: z.core.$ZodIssue): string {
  const type = issue.code === 'invalid_type' ? expectedTypes.get(issue.expected) : undefined;
  if (type !== undefined) return `expected ${type}`;
  if (issue.code !== 'invalid_value') return issue.message;
  const values = issue.values.map((value) => JSON.stringify(value));
  return `expected ${values.length === 1 ? '' : 'one of '}${values.join(', ')}`;
}

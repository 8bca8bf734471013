import { type FieldViolation, invalidRequest } from '../errors/errors.ts';

// Cloud Storage's naming rules: https://cloud.google.com/storage/docs/buckets#naming and …/docs/objects#naming

interface NameRule {
  readonly holds: (name: string) => boolean;
  readonly otherwise: string;
}

const bucketRules: readonly NameRule[] = [
  {
    holds: (name) => name.length >= 3 && name.length <= (name.includes('.') ? 222 : 63),
    otherwise: 'must have 3 to 63 characters, or up to 222 with dots',
  },
  {
    holds: (name) => name.split('.').every((part) => part.length <= 63),
    otherwise: 'must not have more than 63 characters between two dots',
  },
  {
    holds: (name) => /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/.test(name),
    otherwise: 'must consist of a-z, 0-9, hyphens, underscores and dots, and begin and end with a letter or digit',
  },
  { holds: (name) => !name.includes('..'), otherwise: 'must not have two dots in a row' },
  { holds: (name) => !/^\d+\.\d+\.\d+\.\d+$/.test(name), otherwise: 'must not be an IP address' },
  {
    holds: (name) => !name.startsWith('goog') && !/g[o0][o0]gle/.test(name),
    otherwise: 'must not begin with goog or contain google',
  },
];

const objectRules: readonly NameRule[] = [
  { holds: (name) => name.isWellFormed(), otherwise: 'must be well-formed Unicode' },
  { holds: (name) => name !== '' && Buffer.byteLength(name) <= 1024, otherwise: 'must have 1 to 1024 bytes in UTF-8' },
  { holds: (name) => !/[\r\n]/.test(name), otherwise: 'must not contain a line break' },
  { holds: (name) => name !== '.' && name !== '..', otherwise: 'must not be . or ..' },
  {
    holds: (name) => !name.startsWith('.well-known/acme-challenge/'),
    otherwise: 'must not begin with .well-known/acme-challenge/',
  },
];

/**
 * Checks the names of a bucket and an object by Cloud Storage's naming rules. A valid name cannot change the meaning of
 * a URL that contains it.
 * @param field the path of the request field that contains `bucket` and `path`, for example `gcs_output`; an empty text
 *   if there is no such field
 * @throws IdentityError INVALID_ARGUMENT with a violation for each invalid name
 */
export function checkObjectName(name: { readonly bucket: string; readonly path: string }, field: string): void {
  const prefix = field === '' ? '' : `${field}.`;
  const violations = [
    ...findViolations(bucketRules, name.bucket, `${prefix}bucket`),
    ...findViolations(objectRules, name.path, `${prefix}path`),
  ];
  if (violations.length > 0) throw invalidRequest(violations);
}

function findViolations(rules: readonly NameRule[], name: string, field: string): FieldViolation[] {
  const broken = rules.find((rule) => !rule.holds(name));
  return broken === undefined ? [] : [{ field, description: broken.otherwise }];
}

export function objectUri({ bucket, path }: { readonly bucket: string; readonly path: string }): string {
  return `gs://${bucket}/${path}`;
}

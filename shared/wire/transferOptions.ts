// Declares the options of exports and imports. The same option can be a field of the JSON body, a parameter in the
// URL's query, and an option of the command.

import type { z } from 'zod';

/**
 * The type of the zod library. Callers pass the library as a parameter, so that a module that needs only this table
 * does not load it.
 */
type Zod = typeof z;

const list = (schemas: Zod) => schemas.array(schemas.string()).default([]);
const flag = (schemas: Zod) => schemas.boolean().default(false);

const SELECTION = 'Selection and conflicts';
const organisations = { value: 'ORG_ID', isRequired: false, isRepeatable: true, group: SELECTION } as const;

/**
 * The ways in which an import can handle a record that exists already with other content. With `fail`, an organisation
 * of the file that exists already is an error too.
 */
export const onConflicts = ['report', 'skip', 'overwrite', 'fail'] as const;

/**
 * Maps the JSON name of each option to its schema, its descriptions in the requests that have the option, and the
 * corresponding option of the command. The command has further options for secrets and times, which are not in this
 * table. No option may contain a credential, because any option may be in a URL's query, and logs contain queries.
 */
export const transferOptions = {
  orgIds: {
    schema: list,
    export: 'Organisations to export; an empty list exports all.',
    import: 'Organisations to import; an empty list imports all organisations of the file.',
    command: { org: { ...organisations, meaning: 'an organisation, repeatable; by default all' } },
  },
  excludedOrgIds: {
    schema: list,
    export: 'Organisations to exclude.',
    import: 'Organisations of the file to exclude.',
    command: {
      'exclude-org': {
        ...organisations,
        meaning: 'an organisation to exclude; repeatable',
      },
    },
  },
  withPasswords: { schema: flag, export: 'Whether to export password hashes and client secrets.' },
  withOtp: { schema: flag, export: 'Whether to export TOTP seeds and OTP e-mail factors.' },
  withKeys: {
    schema: flag,
    export: 'Whether to export machine and application keys.',
    import: 'Whether to import machine and application keys.',
  },
  dryRun: {
    schema: flag,
    import: 'Whether to report the import’s outcome without writing.',
    command: { 'dry-run': { meaning: 'report what the import would do; write nothing', group: 'Run and output' } },
  },
  onConflict: {
    schema: (schemas: Zod) => schemas.enum(onConflicts).default('report'),
    import:
      'How to handle records that exist with other content: report them as errors, skip or overwrite them; or fail with 409 before anything is written if an organisation of the file exists. An interrupted call may have created organisations: repeat the call without `fail`.',
    command: {
      'on-conflict': {
        value: 'CONFLICT',
        isRequired: false,
        isRepeatable: false,
        group: SELECTION,
        meaning: 'report (default), skip, overwrite or fail',
      },
    },
  },
  mirror: {
    schema: flag,
    import:
      'Whether to delete the records that the imported organisations have and the file lacks. Needs `on_conflict` overwrite, and a file with its manifest. Nothing is deleted if a record of the file fails.',
    command: {
      mirror: { meaning: 'also delete records that the source lacks', group: SELECTION },
    },
  },
  maxDeleted: {
    schema: (schemas: Zod) => schemas.int().nonnegative().optional(),
    import:
      'With `mirror`, the maximum number of records to delete: an import that would delete more changes nothing. Required, except in a dry run.',
    command: {
      'max-deleted': {
        value: 'COUNT',
        isRequired: false,
        isRepeatable: false,
        group: SELECTION,
        meaning: 'maximum number of deletions; required with --yes',
      },
    },
  },
  replaceChanged: {
    schema: list,
    import:
      'With `mirror`, organisations to mirror even if the file is older than their last import, or comes from another instance than the last import, or if they were changed in this instance after that import.',
    command: {
      'replace-changed': {
        ...organisations,
        meaning: 'an organisation to mirror although it changed',
      },
    },
  },
  ids: {
    schema: (schemas: Zod) => schemas.boolean().default(true),
    import: 'Whether the response lists the ids of the written records.',
  },
} as const;

type Table = typeof transferOptions;

type RequestShape<Operation extends 'export' | 'import'> = {
  [Name in keyof Table as Table[Name] extends Readonly<Record<Operation, string>> ? Name : never]: ReturnType<
    Table[Name]['schema']
  >;
};

export function requestShape<Operation extends 'export' | 'import'>(
  schemas: Zod,
  operation: Operation,
): RequestShape<Operation>;
export function requestShape(schemas: Zod, operation: 'export' | 'import') {
  const rows: [string, { readonly [Key in 'export' | 'import']?: string } & { schema(schemas: Zod): z.ZodType }][] =
    Object.entries(transferOptions);
  return Object.fromEntries(
    rows.flatMap(([name, { schema, [operation]: description }]) =>
      description === undefined ? [] : [[name, schema(schemas).describe(description)]],
    ),
  );
}

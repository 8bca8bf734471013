import type { Command, Option } from '../command.ts';

const FORMS =
  'https://HOST (an instance, or a ZITADEL), FILE.json, FILE.json.gz, - (standard input or output), gs://BUCKET/PATH, sqlite:DIR or firestore:PROJECT[/DATABASE] (a database, without a server)';

/** The option of events. */
export const json: Option = {
  name: 'json',
  meaning: 'print events as NDJSON on standard output; the last one is the result',
};

const secrets = [
  { name: 'token-file', value: 'FILE', meaning: 'the file with the token for the instance' },
  {
    name: 'credentials-file',
    value: 'FILE',
    meaning: "the service account's key file for gs://; by default application default credentials",
  },
] as const satisfies readonly Option[];

/** The options for the secrets of two places: each alone, or one for the only place that needs it. */
export function secretsOfTwo(first: string, second: string): readonly Option[] {
  const sides = [
    ['from', first],
    ['to', second],
  ] as const;
  const perSide = sides.flatMap(([side, place]) =>
    secrets.map(({ name, value }) => ({ name: `${side}-${name}`, value, meaning: `the same for ${place}` })),
  );
  return [...secrets, ...perSide];
}

const target: Option = { name: 'to', value: 'PLACE', meaning: 'the target', isRequired: true };
/** The options that select organisations. */
export const selection: readonly Option[] = [
  { name: 'org', value: 'ORG_ID', meaning: 'an organisation; by default all', isRepeatable: true },
  { name: 'exclude-org', value: 'ORG_ID', meaning: 'an organisation to leave out', isRepeatable: true },
];
/** The option that selects secrets. */
export const withSecrets: Option = {
  name: 'with',
  value: 'SECRETS',
  meaning: 'the secrets to include, such as passwords,otp,keys; by default none',
};
/** The option of a call's time limit. */
export const timeout: Option = {
  name: 'timeout',
  value: 'DURATION',
  meaning: 'time limit such as 30m; by default as long as the place allows',
};

/** The commands on places: they move organisations between instances, files, buckets and databases. */
export const placeCommands: readonly Command[] = [
  {
    name: 'export',
    summary: `export organisations from a place to a new file or object. A place is ${FORMS}`,
    instance: 'none',
    arguments: [{ value: 'PLACE', meaning: 'the source' }],
    options: [
      { ...target, meaning: 'the file, object or standard output to write' },
      ...selection,
      withSecrets,
      { name: 'for-zitadel', meaning: 'write the file in the form that a ZITADEL imports without loss' },
      {
        name: 'parts',
        value: 'COUNT',
        meaning:
          'write so many objects of about equally many organisations, then one that names them; repeat the command if it was interrupted: it continues. From firestore: with point-in-time recovery to gs:// only',
      },
      timeout,
      ...secretsOfTwo('the source', 'the target'),
      json,
    ],
    examples: [
      'export https://id.example.com --token-file owner.pat --to north.json.gz --with passwords,otp,keys',
      'export sqlite:./north --to gs://exports/north.json --credentials-file exporter.json',
      'export firestore:my-project/north --to gs://exports/north.json --parts 16 --with passwords,otp,keys',
    ],
    load: async () => (await import('../commands/exportPlace.ts')).exportPlace,
  },
  {
    name: 'import',
    summary:
      'import organisations from a place into an instance or a database; repeat the command if it was interrupted: it resumes',
    instance: 'none',
    arguments: [{ value: 'PLACE', meaning: 'the source' }],
    options: [
      { ...target, meaning: 'the instance or the database' },
      ...selection,
      {
        ...withSecrets,
        meaning:
          'the secrets to take over, such as passwords,otp,keys; by default none, but passwords and otp of a file are always imported',
      },
      { name: 'on-conflict', value: 'CONFLICT', meaning: 'what to do with records that exist with other content' },
      { name: 'new-orgs-only', meaning: 'fail if an organisation exists that this import has not created' },
      { name: 'dry-run', meaning: 'report what would be done, and write nothing' },
      timeout,
      ...secretsOfTwo('the source', 'the target'),
      json,
    ],
    examples: [
      'import north.json.gz --to https://id.example.com --token-file owner.pat --dry-run',
      'import gs://exports/north.json --to firestore:my-project/north --with keys',
    ],
    load: async () => (await import('../commands/importPlace.ts')).importPlace,
  },
  {
    name: 'compare',
    summary:
      'compare two places field by field: organisations, sections and records, as an import would store them; exit code 3 if they differ',
    instance: 'none',
    arguments: [
      { value: 'PLACE', meaning: 'the first place' },
      { value: 'PLACE', meaning: 'the second place' },
    ],
    options: [
      ...selection,
      { ...withSecrets, meaning: 'the secrets to compare, such as passwords,otp,keys; by default none' },
      { name: 'limit', value: 'COUNT', meaning: 'how many differing records to list; by default 100' },
      timeout,
      ...secretsOfTwo('the first place', 'the second place'),
      json,
    ],
    examples: [
      'compare north.json.gz https://id.example.com --token-file owner.pat --with passwords',
      'compare sqlite:./north firestore:my-project/north',
    ],
    load: async () => (await import('../commands/comparePlaces.ts')).comparePlaces,
  },
  {
    name: 'inspect',
    summary:
      'validate what a place exports, and say what it contains: counts, sizes, hash formats, secrets, and what an instance or a ZITADEL must be given by hand',
    instance: 'none',
    arguments: [{ value: 'PLACE', meaning: 'the place' }],
    options: [...selection, withSecrets, timeout, ...secrets, json],
    examples: ['inspect north.json.gz', 'inspect https://id.example.com --token-file owner.pat --with passwords,otp'],
    load: async () => (await import('../commands/inspectPlace.ts')).inspect,
  },
  {
    name: 'doctor',
    summary:
      'check a place, or what the environment configures: address, clock, database, token, bucket, files; each with what to do',
    instance: 'none',
    arguments: [{ value: 'PLACE', meaning: 'the place; by default the configured database', isOptional: true }],
    options: [...secrets, { name: 'json', meaning: 'print one JSON document on standard output' }],
    examples: ['doctor https://id.example.com --token-file owner.pat', 'doctor sqlite:./north', 'doctor'],
    load: async () => (await import('../commands/doctor.ts')).doctor,
  },
];

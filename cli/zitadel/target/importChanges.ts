/** What a ZITADEL does otherwise with every import, as a migration's plan says it. */
export const importChanges: readonly string[] = [
  'it never overwrites a record: those that exist stay as they are',
  'it refuses all ids of an organisation that was deleted there: import it under new ids, or into another instance',
  'it makes the caller ORG_OWNER of every organisation that it creates',
  'it gives applications new client ids and client secrets',
  'it does not distinguish role keys and application names by case',
  'it verifies each domain, also unverified ones, and adds a domain of its own to each organisation',
  'it makes people without password hash initial, with an unverified e-mail address: they must activate their users',
  'it shows what it imported up to 2 s later',
];

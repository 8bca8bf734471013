import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { z } from 'zod';
import { isJsonObject } from '../../../shared/json/jsonObject.ts';
import { zitadelExport, zitadelRequest, zitadelText } from '../../support/fixtures/organisations.ts';
import { editedJson } from '../arbitraries/jsonEdits.ts';
import type { Kind, Known } from '../generatedRequest.ts';
import { posts } from './posts.ts';

const orgs = z.array(z.record(z.string(), z.unknown()));
const v1Request = z.looseObject({ dataOrgsv1: z.looseObject({ orgs }) });
const sample = z.looseObject({ orgs });

const sampleFile = new URL('../../../local/sample/organisations.json', import.meta.url);

/** Organisations of real files: ZITADEL's, in both versions, and the sample. */
const organisations = [
  ...zitadelExport('export-full'),
  ...zitadelExport('export-made-by-api'),
  ...zitadelRequest('import-request'),
  ...zitadelRequest('import-of-our-export-request'),
  ...sample.parse(JSON.parse(readFileSync(sampleFile, 'utf8'))).orgs,
];
const v1Organisations = v1Request.parse(JSON.parse(zitadelText('import-v1-request'))).dataOrgsv1.orgs;

const MOST_RECORDS = 2;

/** Small documents of each organisation: its id and name, and one or two of its sections with few records. */
function excerpts(all: readonly object[]): object[] {
  return all.filter(isJsonObject).flatMap(({ orgId, org, ...sections }) => {
    const entries = Object.entries(sections);
    return entries.map(([name, content], index) => {
      const [otherName, other] = entries[(index * 7 + 3) % entries.length] ?? [name, content];
      return { orgId, org, [otherName]: few(other), [name]: few(content) };
    });
  });
}

function few(content: unknown): unknown {
  return Array.isArray(content) ? content.slice(0, MOST_RECORDS) : content;
}

/** Imports of real documents with a few random edits. */
export function documents({ exported }: Known): Kind {
  const v2 = [...excerpts(organisations), ...organisations.slice(0, 3)];
  const file = fc.oneof(
    { weight: 8, arbitrary: editedJson(v2).map((org) => `"data_orgs":{"orgs":[${org}]}`) },
    { weight: 2, arbitrary: fc.tuple(editedJson(v2), editedJson(v2)).map((two) => `"dataOrgs":{"orgs":[${two}]}`) },
    {
      weight: 2,
      arbitrary: editedJson([...excerpts(v1Organisations), ...v1Organisations]).map(
        (org) => `"data_orgsv1":{"orgs":[${org}]}`,
      ),
    },
    { weight: 1, arbitrary: editedJson([exported], 2).map((text) => `"data_orgs":${text}`) },
  );
  const options = fc.constantFrom(
    '',
    '"on_conflict":"overwrite",',
    '"on_conflict":"skip",',
    '"on_conflict":"overwrite","with_keys":true,',
    '"dry_run":true,',
  );
  const bodies = fc.tuple(options, file).map(([option, text]) => `{${option}${text}}`);
  return { name: 'documents', weight: 8, requests: posts('/admin/v1/import', bodies), reaches: ['200', '400 (3)'] };
}

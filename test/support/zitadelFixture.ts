import { readFileSync } from 'node:fs';
import { z } from 'zod';

const organisations = z.array(z.looseObject({ orgId: z.string() }));
const file = z.looseObject({ orgs: organisations });
const request = z.looseObject({ dataOrgs: file });

/** An organisation of an export file. */
export type Organisation = z.infer<typeof organisations>[number];

/** The organisations of a file that a real ZITADEL exported. */
export function zitadelExport(name: 'export-full' | 'export-nosecrets'): Organisation[] {
  return file.parse(JSON.parse(zitadelText(name))).orgs;
}

/** The organisations of a request that a real ZITADEL imported. */
export function zitadelRequest(name: 'import-request'): Organisation[] {
  return request.parse(JSON.parse(zitadelText(name))).dataOrgs.orgs;
}

/** The text of a file that was sent to a real ZITADEL, or came from it. */
export function zitadelText(name: string): string {
  return readFileSync(new URL(`../fixtures/zitadel/${name}.json`, import.meta.url), 'utf8');
}

import { defaultExportOptions } from '../../functions/export/contract.ts';
import { inspect } from '../../shared/exportFile/inspection.ts';
import { textAt } from '../../shared/json/jsonObject.ts';
import { makeRepeatable } from './fileContent.ts';
import type { DatabasePlace, ListedOrganisation } from './placeInterfaces.ts';

/** Lists the organisations of a place. For this, requests an export of the organisations without their records. */
export async function listExportedOrganisations(
  readExport: DatabasePlace['readExport'],
  signal: AbortSignal,
): Promise<readonly ListedOrganisation[]> {
  await using content = await readExport({ ...defaultExportOptions, orgsOnly: true }, signal);
  await using file = await makeRepeatable(content, signal);
  const { organisations } = await inspect(file, signal);
  return organisations.map(({ orgId, record, importedFrom }) => ({
    orgId,
    name: textAt(record?.json ?? {}, 'org.name', orgId),
    isDeleted: false,
    importedFrom,
  }));
}

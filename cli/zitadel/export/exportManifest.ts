// Creates the manifest of an export of ZITADEL, because ZITADEL itself does not write one.

import { AdminService } from '@zitadel/proto/zitadel/admin_pb.js';
import type { Manifest, ManifestTally } from '../../../shared/exportFile/manifest.ts';
import { sections } from '../../../shared/organisation/allSections.ts';
import type { PlaceExportOptions } from '../../exports/placeInterfaces.ts';
import { requireContent, rpcClient } from '../rpc.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';

interface ReadExport {
  readonly options: Pick<PlaceExportOptions, 'withKeys'>;
  /** The time of ZITADEL's clock before the first record was read. */
  readonly readTime: Date;
  readonly missing: { readonly sections: ReadonlySet<string>; readonly users: ReadonlySet<string> };
}

/**
 * Returns the manifest without the field `secrets`. That field would mean that the source has no credentials except
 * those in the file. But ZITADEL does not export all kinds of credentials, so the source may have more.
 */
export async function describeExport(
  connection: ZitadelConnection,
  { options: { withKeys }, readTime, missing }: ReadExport,
  { counts, digest }: ManifestTally,
): Promise<Manifest> {
  const { getMyInstance } = AdminService.method;
  const { instance } = await rpcClient(connection, AdminService).getMyInstance({});
  const { id, name } = requireContent(connection, getMyInstance, instance);
  const complete = sections.filter(
    (section) =>
      section.zitadel?.exportsPartly !== true &&
      !missing.sections.has(section.name) &&
      (section.keys !== true || withKeys),
  );
  return {
    version: 1,
    instance: name,
    readTime: readTime.toISOString(),
    counts,
    digest,
    instanceId: id,
    sections: complete.map((section) => section.name),
    usersLeftOut: [...missing.users],
  };
}

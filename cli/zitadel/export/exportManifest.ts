// Creates the manifest of an export of ZITADEL, because ZITADEL writes none.

import { AdminService } from '@zitadel/proto/zitadel/admin_pb.js';
import type { Manifest, ManifestTally } from '../../../shared/exportFile/manifest.ts';
import { sections } from '../../../shared/organisation/allSections.ts';
import type { PlaceExportOptions } from '../../exports/placeInterfaces.ts';
import { requireContent, rpcClient } from '../rpc.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';

/** Facts about a finished export of ZITADEL. */
interface ReadExport {
  readonly options: Pick<PlaceExportOptions, 'withKeys'>;
  /** The server's time before the first reading of records. */
  readonly readTime: Date;
  /**
   * The sections with records that the export does not contain, or possibly does not contain, and the users to whom
   * such records belong.
   */
  readonly missing: { readonly sections: ReadonlySet<string>; readonly users: ReadonlySet<string> };
}

/**
 * Creates the manifest of an export. Omits the field `secrets`, because ZITADEL does not export all kinds of
 * credentials. With this field, a missing credential would mean that the source does not have the credential.
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

// The manifest of an export of ZITADEL, which does not write a manifest itself.

import { AdminService } from '@zitadel/proto/zitadel/admin_pb.js';
import { tallyExport } from '../../../shared/exportFile/inspection.ts';
import type { Manifest, ManifestTally } from '../../../shared/exportFile/manifest.ts';
import { sections } from '../../../shared/organisation/allSections.ts';
import type { PlaceExportOptions } from '../../exports/placeInterfaces.ts';
import { requireContent, rpcClient } from '../rpc.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';

/** The facts about an export of ZITADEL that is complete. */
interface ReadExport {
  readonly options: Pick<PlaceExportOptions, 'withKeys' | 'forZitadel'>;
  /** The time before the first call. */
  readonly readTime: Date;
  /**
   * Sections of which ZITADEL has, or may have, further records that the export does not contain, and users with such
   * records.
   */
  readonly missing: { readonly sections: ReadonlySet<string>; readonly users: ReadonlySet<string> };
}

/**
 * Yields an export file with its manifest.
 * @param json yields the file without a manifest
 * @param read returns what was read, once `json` has ended
 */
export async function* withManifest(
  connection: ZitadelConnection,
  json: AsyncIterable<Uint8Array>,
  read: () => ReadExport,
): AsyncGenerator<Uint8Array> {
  const pass = tallyExport({ open: () => json }, connection.signal);
  let held: Uint8Array | undefined;
  for (;;) {
    const { done, value } = await pass.next();
    if (held !== undefined) yield done === true ? held.subarray(0, -1) : held;
    if (done === true) {
      const manifest = await describe(connection, read(), value.tally);
      yield Buffer.from(`,"manifest":${JSON.stringify(manifest)}}\n`);
      return;
    }
    held = value;
  }
}

/**
 * Creates the manifest of an export. Omits the field `secrets`: with it, a missing credential would mean that the
 * source lacks the credential, but ZITADEL does not export all kinds of credentials.
 */
async function describe(
  connection: ZitadelConnection,
  { options: { withKeys, forZitadel }, readTime, missing }: ReadExport,
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
    ...(forZitadel ? {} : { instanceId: id }),
    sections: complete.map((section) => section.name),
    usersLeftOut: [...missing.users],
  };
}

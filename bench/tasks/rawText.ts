import { isJsonObject, putAt } from '../../shared/json/jsonObject.ts';
import type { DocumentFields } from '../../shared/store/documentFields.ts';

const CHUNK_CHARACTERS = 64 * 1024;

/** A minimal renderer of stored users as an export file, which counts users and bytes. */
export class RawText {
  private pending = '{"orgs":[{"humanUsers":[';
  users = 0;
  bytes = 0;

  /** Adds a record; users have separately stored credentials. */
  add({ body = '', passwordHash, totpSeed }: DocumentFields): void {
    const json: unknown = JSON.parse(body);
    if (!isJsonObject(json)) throw new Error('a stored user is not an object');
    if (passwordHash !== undefined) {
      putAt(json, 'user.hashedPassword.value', passwordHash);
      putAt(json, 'user.otpCode', totpSeed);
      this.users++;
    }
    this.pending += `${JSON.stringify(json)},`;
    if (this.pending.length > CHUNK_CHARACTERS) this.flush();
  }

  end(): void {
    this.pending += ']}]}';
    this.flush();
  }

  private flush(): void {
    this.bytes += Buffer.from(this.pending).length;
    this.pending = '';
  }
}

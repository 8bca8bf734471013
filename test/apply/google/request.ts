import type { Fields } from './json.ts';

/** A request of the provider. */
export interface ApiRequest {
  /** The first label of the API's host name, such as `firestore`. */
  readonly service: string;
  readonly method: string;
  /** The path without the version. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The JSON body; empty if there is none. */
  readonly body: Fields;
  /** The bytes of the body. */
  readonly bytes: Buffer;
  readonly contentType: string;
}

// The path of a value in a document, and the errors that contain it.

/** The keys and indexes from the root to a value. */
export type JsonPath = readonly (string | number)[];

/** An error in the input: it is not JSON, or does not have the expected structure. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly path: JsonPath;
  /** The actual kind of the file, if it is not the expected kind. */
  readonly wrongFile: WrongFile | undefined;

  constructor(path: JsonPath, message: string, wrongFile?: WrongFile) {
    super(message);
    this.path = path;
    this.wrongFile = wrongFile;
  }
}

/** A file of another kind in place of the expected one. */
export interface WrongFile {
  /** The kind with its article, such as `an HTML page`. */
  readonly kind: string;
  readonly remedy: string;
}

/** Formats a path for error texts: `orgs[3].humanUsers[17]`. */
export function formatPath(path: JsonPath): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

/** Returns an error's message after its path. */
export function locatedMessage({ path, message }: JsonError): string {
  return path.length === 0 ? message : `${formatPath(path)}: ${message}`;
}

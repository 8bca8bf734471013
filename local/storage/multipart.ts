import { invalid } from './googleError.ts';

/** The two parts of a multipart upload. `media` is read as it comes, and only once. */
export interface MultipartUpload {
  readonly json: string;
  readonly contentType: string | undefined;
  readonly media: AsyncIterable<Buffer>;
}

const maxHeadBytes = 1024 * 1024;

/**
 * Reads a multipart/related body: metadata, then bytes.
 * @param contentType of the request, with the boundary
 * @throws GoogleError 400
 */
export async function readMultipart(
  body: AsyncIterable<Buffer>,
  contentType: string | undefined,
): Promise<MultipartUpload> {
  const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/.exec(contentType ?? '');
  const delimiter = boundary?.[1] ?? boundary?.[2];
  if (delimiter === undefined) throw invalid('Missing boundary');
  const until = createReader(body);
  await text(until(`--${delimiter}\r\n`));
  await text(until('\r\n\r\n'));
  const json = await text(until(`\r\n--${delimiter}\r\n`));
  const head = await text(until('\r\n\r\n'));
  return { json, contentType: /^content-type: *(.+)$/im.exec(head)?.[1]?.trim(), media: until(`\r\n--${delimiter}--`) };
}

/** Gives the bytes up to a delimiter, and drops the delimiter; each call goes on where the last one ended. */
function createReader(body: AsyncIterable<Buffer>): (delimiter: string) => AsyncGenerator<Buffer, void, void> {
  const source = body[Symbol.asyncIterator]();
  let rest = Buffer.alloc(0);
  return async function* until(delimiter) {
    for (;;) {
      const found = rest.indexOf(delimiter);
      const safe = found >= 0 ? found : Math.max(0, rest.length - delimiter.length + 1);
      if (safe > 0) yield rest.subarray(0, safe);
      rest = rest.subarray(found >= 0 ? found + delimiter.length : safe);
      if (found >= 0) return;
      const next = await source.next();
      if (next.done) throw invalid('Malformed multipart body.');
      rest = Buffer.concat([rest, next.value]);
    }
  };
}

async function text(pieces: AsyncIterable<Buffer>): Promise<string> {
  let head = Buffer.alloc(0);
  for await (const piece of pieces) {
    head = Buffer.concat([head, piece]);
    if (head.length > maxHeadBytes) throw invalid('The metadata is too large.');
  }
  return head.toString('utf8');
}

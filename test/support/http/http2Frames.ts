/** The first bytes of a connection of HTTP/2 (RFC 9113 3.4). */
export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** The types of frames (RFC 9113 6). */
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** The flags of frames. */
export const END_STREAM = 1;
export const END_HEADERS = 4;

/** Encodes a frame that Node's clients never send. */
export function http2Frame(
  type: keyof typeof frameTypes,
  { flags = 0, stream = 0, payload = Buffer.alloc(0) }: FrameFields = {},
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.byteLength, 0, 3);
  head.writeUInt8(frameTypes[type], 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Repeats a frame. */
export function repeatedFrame(count: number, frame: Uint8Array): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => frame));
}

interface FrameFields {
  readonly flags?: number;
  readonly stream?: number;
  readonly payload?: Uint8Array;
}

/** Returns a GOAWAY frame with the last processed stream. */
export function goAway(lastStream: number, code: number): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeUInt32BE(lastStream);
  payload.writeUInt32BE(code, 4);
  return http2Frame('goAway', { payload });
}

const INITIAL_WINDOW_SIZE = 4;

/** Returns a SETTINGS frame after which a server may not send content. */
export function noWindow(): Buffer {
  const payload = Buffer.alloc(6);
  payload.writeUInt16BE(INITIAL_WINDOW_SIZE);
  return http2Frame('settings', { payload });
}

/** Returns the header block of a GET request. */
export function getBlock(path: string): Buffer {
  const fields = { ':method': 'GET', ':scheme': 'http', ':path': path, ':authority': 'a' };
  return Buffer.concat(Object.entries(fields).map(([name, value]) => literal(name, value)));
}

const CANCEL = Buffer.from([0, 0, 0, 8]);

/** Encodes the given number of GET requests, each with an immediate reset, in as few bytes as possible. */
export function resetRequests(count: number): Buffer {
  // GET, http, the path / and the name of the authority, which is `a`, are in the static table (RFC 7541, appendix A).
  const payload = Buffer.concat([Buffer.of(0x82, 0x86, 0x84, 0x01), text('a')]);
  const pairs = Array.from({ length: count }, (_, index) => {
    const stream = 2 * index + 1;
    const headers = http2Frame('headers', { flags: END_STREAM | END_HEADERS, stream, payload });
    return Buffer.concat([headers, http2Frame('resetStream', { stream, payload: CANCEL })]);
  });
  return Buffer.concat(pairs);
}

/** Encodes a literal field without indexing and Huffman code (RFC 7541 6.2.2). */
export function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0), text(name), text(value)]);
}

/** Encodes a string with its length, which uses seven bits of the first byte (RFC 7541 5.1 and 5.2). */
function text(characters: string): Buffer {
  const bytes = Buffer.from(characters, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.of(...length, rest), bytes]);
}

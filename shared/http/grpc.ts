const contentType = /^application\/grpc(?:-web(?:-text)?)?(?:\+(?:proto|json))?$/i;

/** Whether a content type is one of gRPC's or gRPC-Web's: their answers carry a status of their own, under HTTP's 200. */
export function isGrpc(type: string): boolean {
  return contentType.test(type);
}

/** A `grpc-message`: encoded is only what must be, since some clients do not decode more than that. */
export function encodeGrpcMessage(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x24\x26-\x7e]+/g, encodeURIComponent);
}

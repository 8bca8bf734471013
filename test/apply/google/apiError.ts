/** An error as Google's APIs answer it. */
export class ApiError extends Error {
  readonly code: number;
  readonly status: string;
  /** The name in `error.details`, such as SERVICE_DISABLED. */
  readonly reason: string | undefined;

  constructor(code: number, status: string, message: string, reason?: string) {
    super(message);
    this.code = code;
    this.status = status;
    this.reason = reason;
  }
}

export const notFound = (name: string) => new ApiError(404, 'NOT_FOUND', `Resource '${name}' was not found`);
export const alreadyExists = (name: string) => new ApiError(409, 'ALREADY_EXISTS', `Resource '${name}' already exists`);
export const invalid = (message: string) => new ApiError(400, 'INVALID_ARGUMENT', message);
export const inUse = (message: string) => new ApiError(400, 'FAILED_PRECONDITION', message);
export const denied = (message: string) => new ApiError(403, 'PERMISSION_DENIED', message);
export const unimplemented = (request: string) => new ApiError(501, 'UNIMPLEMENTED', `no stand-in for ${request}`);

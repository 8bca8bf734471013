import { http } from '@google-cloud/functions-framework';

// The smallest possible function.
http('emptyFunction', (_request, response) => void response.sendStatus(404));

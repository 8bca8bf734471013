import { http } from '@google-cloud/functions-framework';

http('emptyFunction', (_request, response) => void response.sendStatus(404));

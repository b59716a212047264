import type { Api } from './api.ts';
import { describeApi, type OpenApiDocument } from './openapi.ts';
import { referencePage, STYLE_HASH } from './reference-page.ts';
import { json, page, type Response } from './responses.ts';
import type { Call, RouteLine } from './route.ts';

/** The API's description, made when it is first asked for: it is the same until the process ends. */
export class Documentation {
  readonly #api: Pick<Api, 'version'>;
  readonly #table: () => readonly RouteLine[];
  #document: OpenApiDocument | undefined;
  #description: Response | undefined;
  #reference: Response | undefined;

  constructor(api: Pick<Api, 'version'>, table: () => readonly RouteLine[]) {
    this.#api = api;
    this.#table = table;
  }

  /** GET /openapi.json */
  showDescription({ exchange }: Call): void {
    this.#description ??= json(200, JSON.stringify(this.#described()));
    exchange.answer(this.#description);
  }

  /** GET /docs */
  showReference({ exchange }: Call): void {
    this.#reference ??= page(referencePage(this.#described()), STYLE_HASH);
    exchange.answer(this.#reference);
  }

  #described(): OpenApiDocument {
    this.#document ??= describeApi(this.#table(), this.#api.version);
    return this.#document;
  }
}

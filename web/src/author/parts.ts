/** What is loaded in `judge dev` and nowhere else. */
import { listenToAuthor } from "../api/events";
import { getProof } from "../api/http";
import type { Proof } from "../api/types";
import { sentenceOf } from "../parts/useLoaded";
import { Desk } from "./desk";

export { AuthorBar } from "./AuthorBar";
export { AuthorTab } from "./AuthorTab";

export const openDesk = (slug: string): Desk => new Desk(slug, { listen: listenToAuthor, proof });

async function proof(slug: string): Promise<Proof | null> {
  try {
    return await getProof(slug);
  } catch (error) {
    sentenceOf(error);
    return null;
  }
}

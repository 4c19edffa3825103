/** Where exercises and tracks are. */

export const problemAddress = (slug: string): string => `/problems/${encodeURIComponent(slug)}`;
export const trackAddress = (id: string): string => `/tracks/${encodeURIComponent(id)}`;

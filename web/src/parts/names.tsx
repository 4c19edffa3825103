import { Fragment, type VNode } from "preact";

/** The function of a check's id: "test_sum" of "test_t1_oracle::test_sum[3]". */
export const testName = (id: string): string => (id.split("::").pop() ?? id).replace(/\[.*$/, "");

/** A long name, which may go on in the next line after each of its words. */
export const breakable = (name: string): VNode[] =>
  name.split(/(?<=_)/).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));

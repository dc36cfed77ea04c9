// Package values is the canonical encoding of Python values: what an actor
// stores, sends, emits and hands to runners (whitepaper, Serialization).
//
// A value flows in and bytes flow out of [Append]; [Decode] is its inverse and
// refuses every other encoding of the value. A machine goes with both, since
// both are charged, announce their memory, and may call methods of the program.
//
// # Profile
//
// RFC 8949 §4.2.1 core deterministic encoding, with the whitepaper's rules:
//
//   - integers and lengths in their shortest form, beyond 64 bits as bignums;
//   - definite lengths only;
//   - maps sorted bytewise by the encoded key, no key twice, also under Python's
//     equality;
//   - floats are 64 bits wide; there is one NaN (resolution 11.45);
//   - text is UTF-8 in NFC, the form under which the machine compares (11.48);
//   - a list and a tuple are both an array, which comes back as a list, or as a
//     tuple within a key; bytes and bytearray are both a byte string;
//   - a set or frozenset is tag 258 over its elements sorted as keys are; it
//     comes back as a set, or as a frozenset within a key;
//   - an instance of a class with __cowboy_serialize__ is tag 27 over its class's
//     name and what the method answered; __cowboy_deserialize__ of the class of
//     that name makes it anew.
//
// With [Profile.Exact] a decoded value has the type and the order of the encoded
// one, which a suspended handler needs of its variables: what the plain form
// loses (tuple, bytearray, range, frozenset, the order of a dict or set, text
// that is not in NFC, and that two places hold one object) travels in tag 27
// under names that no class can have.
//
// # Invariants
//
//   - The bytes of a value are a function of the value alone; equal values that
//     compare by content have equal bytes in the plain form.
//   - Decode(Append(v)) is v, and Append(Decode(b)) is b for every b that Decode
//     takes.
//   - Work and memory are bounded by [Profile.Bytes] and [Profile.Depth], and
//     charged per byte before they are spent. Nothing is allocated for a length
//     that the input merely claims.
package values

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cel/encoding.hpp"
#include "cel/functions.hpp"
#include "cel/opaque.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cel {
namespace {

class CelFunctions : public testing::Test {
 protected:
  std::string show(const std::string& text) {
    std::vector<Problem> problems;
    const auto program = compile(text, environment, problems);
    if (program == nullptr) return "problem: " + problems.front().message;
    const Outcome outcome = evaluate(*program, values, arena);
    if (!outcome.ok()) return "error: " + outcome.error->message;
    if (!outcome.value.is_node()) return type_name_of(outcome.value) + "!";
    return yaml::emit_json(outcome.value.node());
  }

  void expect_all(const std::vector<std::pair<std::string, std::string>>& cases) {
    for (const auto& [text, expected] : cases) EXPECT_EQ(show(text), expected) << text;
  }

  yaml::Arena arena;
  Environment environment;
  std::vector<Value> values;
};

TEST_F(CelFunctions, Strings) {
  expect_all({
      {"size('h\xC3\xA9llo')", "5"},
      {"'h\xC3\xA9llo'.charAt(1)", "\"\xC3\xA9\""},
      {"'abc'.charAt(3)", "\"\""},
      {"'abc'.charAt(4)", "error: position 4 is outside of the string"},
      {"'h\xC3\xA9llo'.indexOf('l')", "2"},
      {"'hello'.indexOf('l', 3)", "3"},
      {"'hello'.indexOf('z')", "-1"},
      {"'h\xC3\xA9llo'.lastIndexOf('l')", "3"},
      {"'hello'.lastIndexOf('l', 2)", "2"},
      {"'h\xC3\xA9llo'.substring(1, 3)", "\"\xC3\xA9l\""},
      {"'hello'.substring(2)", "\"llo\""},
      {"'hello'.substring(3, 1)", "error: the end 1 lies before the start 3"},
      {"'hello'.substring(9)", "error: position 9 is outside of the string"},
      {"'ABC \xC3\x89'.lowerAscii() + 'abc'.upperAscii()",
       "\"abc \xC3\x89"
       "ABC\""},
      {"'a-b-c'.replace('-', '+')", "\"a+b+c\""},
      {"'a-b-c'.replace('-', '+', 1)", "\"a+b-c\""},
      {"'ab'.replace('', '-')", "\"-a-b-\""},
      {"'a,b,,c'.split(',')", "[\"a\",\"b\",\"\",\"c\"]"},
      {"'a,b,c'.split(',', 2)", "[\"a\",\"b,c\"]"},
      {"'a\xC3\xA9'.split('')", "[\"a\",\"\xC3\xA9\"]"},
      {"'a'.split(',', 0)", "[]"},
      {"['a', 'b'].join('-') + ['a', 'b'].join()", "\"a-bab\""},
      {"'\\u2003 a b \\t'.trim()", "\"a b\""},
      {"'a\xC3\xA9z'.reverse()",
       "\"z\xC3\xA9"
       "a\""},
      {"strings.quote('a\"b\\n')", "\"\\\"a\\\\\\\"b\\\\n\\\"\""},
      {"'foobar'.startsWith('foo') && 'foobar'.endsWith('bar') && 'foobar'.contains('oba')",
       "true"},
      {"'a'.startsWith('abc') || 'a'.endsWith('abc')", "false"},
      {"'gpu-17'.matches('^gpu-[0-9]+$')", "true"},
      {"matches('x', 'y')", "false"},
      {"'x'.matches('(' + '[')", "error: the pattern is no regular expression: missing ]: ["},
      {"'%s is %d, %.2f, %x, %b, %o, %e %%'.format(['a', 7, 1.005, 255, 5, 8, 1234.5])",
       "\"a is 7, 1.00, ff, 101, 10, 1.234500e+03 %\""},
      {"'%s %s %s'.format([[1, 'b'], {'z': 1, 'a': null}, true])",
       "\"[1, b] {a: null, z: 1} true\""},
      {"'%X'.format(['hi'])", "\"6869\""},
      {"'%d'.format(['x'])", "error: `%d` cannot take string"},
      {"'%s'.format([])", "error: the format has more `%` clauses than the list has values, 0"},
      {"'%'.format([1])", "error: the format ends inside of a `%` clause"},
      {"'%q'.format([1])", "error: unknown clause `%q` in the format"},
      {"'%ä'.format([1])", "error: unknown clause `%ä` in the format"},
      {"'%.999999999f'.format([1.0])", "error: a precision in the format must be 0 to 100"},
  });
}

TEST_F(CelFunctions, ListsAndMaps) {
  expect_all({
      {"[1, 2, 1.0, 'a', 'a'].distinct()", "[1,2,\"a\"]"},
      {"[3, 1, 2].sort()", "[1,2,3]"},
      {"[1.5, 1].sort()", "[1,1.5]"},
      {"['b', 1].sort()", "error: `sort` cannot order string and int"},
      {"[0.0 / 0.0, 1.0].sort()", "error: `sort` cannot order NaN"},
      {"[1, [2, [3]]].flatten()", "[1,2,[3]]"},
      {"[1, [2, [3]]].flatten(5)", "[1,2,3]"},
      {"[1].flatten(-1)", "error: the depth of `flatten` must not be negative"},
      {"[1, 2, 3].slice(1, 3)", "[2,3]"},
      {"[1, 2, 3].slice(2, 5)", "error: slice 2 to 5 is out of range, the list has 3 items"},
      {"[1, 2].reverse()", "[2,1]"},
      {"lists.range(3)", "[0,1,2]"},
      {"lists.range(-1)", "error: `lists.range` of a negative number"},
      {"[1, 2, 3].sum()", "6"},
      {"[1.5, 2.0].sum()", "3.5"},
      {"[].sum()", "0"},
      {"['a'].sum()", "error: `sum` cannot add string"},
      {"[9223372036854775807, 1].sum()", "error: integer overflow"},
      {"[2, 1, 3].min() + [2, 1, 3].max()", "4"},
      {"[].max()", "error: `max` of an empty list"},
      {"[1, 2].isSorted() && !['b', 'a'].isSorted()", "true"},
      {"[5, 6, 5].indexOf(5) + [5, 6, 5].lastIndexOf(5) + [5].indexOf(9)", "1"},
      {"{'a': 1, 'b': 2}.merge({'b': 3, 'c': 4})", "{\"a\":1,\"b\":3,\"c\":4}"},
      {"size({'a': 1}) + [1, 2].size()", "3"},
  });
}

TEST_F(CelFunctions, Math) {
  expect_all({
      {"math.greatest(1, 3, 2)", "3"},
      {"math.greatest([1, 2.5])", "2.5"},
      {"math.least(1, -3.5)", "-3.5"},
      {"math.least([])", "error: `math.least` of nothing"},
      {"math.greatest('a')", "error: `math.greatest` cannot take string"},
      {"math.ceil(1.2) + math.floor(1.8) + math.round(2.5) + math.trunc(-1.9)", "5.0"},
      {"math.abs(-3) + math.sign(-7)", "2"},
      {"math.abs(-9223372036854775808)", "error: integer overflow"},
      {"math.abs(-1.5) * math.sign(-2.0)", "-1.5"},
      {"math.isNaN(0.0 / 0.0) && math.isInf(1.0 / 0.0) && math.isFinite(1.0)", "true"},
      {"math.bitAnd(6, 3) + math.bitOr(4, 1) + math.bitXor(5, 1) + math.bitNot(0)", "10"},
      {"math.bitShiftLeft(1, 4) + math.bitShiftRight(256, 4)", "32"},
      {"math.bitShiftLeft(1, -1)", "error: a shift by a negative number"},
  });
}

TEST_F(CelFunctions, Network) {
  expect_all({
      {"ip('192.168.0.1').family() + ip('::1').family()", "10"},
      {"isIP('1.2.3.4') && !isIP('1.2.3.04') && !isIP('1.2.3') && !isIP('::ffff:1.2.3.4') && "
       "!isIP('fe80::1%eth0')",
       "true"},
      {"ip('256.1.1.1')", "error: `256.1.1.1` is no IP address"},
      {"string(ip('2001:DB8:0:0:1:0:0:1'))", "\"2001:db8::1:0:0:1\""},
      {"string(ip('::')) + ' ' + string(ip('::1')) + ' ' + string(ip('1::'))", "\":: ::1 1::\""},
      {"string(ip('1:0:2:0:3:0:4:0'))", "\"1:0:2:0:3:0:4:0\""},
      {"ip.isCanonical('::1') && !ip.isCanonical('0::1')", "true"},
      {"ip('127.0.0.1').isLoopback() && ip('::').isUnspecified()", "true"},
      {"ip('169.254.1.1').isLinkLocalUnicast() && ip('224.0.0.9').isLinkLocalMulticast()", "true"},
      {"ip('10.0.0.1').isGlobalUnicast() && !ip('239.1.1.1').isGlobalUnicast()", "true"},
      {"ip('::1') == ip('0:0:0:0:0:0:0:1')", "true"},
      {"cidr('10.0.0.0/8').containsIP('10.255.0.1')", "true"},
      {"cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))", "false"},
      {"cidr('10.0.0.0/8').containsIP('::1')", "false"},
      {"cidr('10.0.0.0/8').containsIP('x')", "error: `x` is no IP address"},
      {"cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", "true"},
      {"cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))", "false"},
      {"cidr('10.1.0.0/16').overlaps('10.0.0.0/8') && !cidr('10.1.0.0/16').overlaps('10.2.0.0/16')",
       "true"},
      {"string(cidr('10.1.2.3/12').masked())", "\"10.0.0.0/12\""},
      {"string(cidr('2001:db8::ff/64').masked())", "\"2001:db8::/64\""},
      {"cidr('10.1.2.3/12').prefixLength()", "12"},
      {"string(cidr('10.1.2.3/12').ip())", "\"10.1.2.3\""},
      {"cidr('0.0.0.0/0').containsIP('8.8.8.8')", "true"},
      {"isCIDR('10.0.0.0/33') || isCIDR('10.0.0.0/08') || isCIDR('10.0.0.0') || isCIDR('::/129')",
       "false"},
  });
}

TEST_F(CelFunctions, Quantities) {
  expect_all({
      {"quantity('1Gi') == quantity('1024Mi') && quantity('1k') == quantity('1e3')", "true"},
      {"quantity('500m').add(quantity('1.5')) == quantity('2')", "true"},
      {"quantity('1k').add(quantity('24')).asInteger()", "1024"},
      // The API server takes only short ones without decimals for integers.
      {"quantity('500m').add(quantity('1.5')).isInteger() || quantity('1Pi').isInteger()", "false"},
      {"quantity('2').sub(3).sign()", "-1"},
      {"quantity('1500m').isInteger()", "false"},
      {"quantity('1500m').asInteger()", "error: the quantity is no integer, or too long for one"},
      {"quantity('1500m').asApproximateFloat()", "1.5"},
      {"quantity('1Ki').compareTo(quantity('1k'))", "1"},
      {"quantity('100m').isLessThan(quantity('1')) && quantity('2').isGreaterThan(quantity('1'))",
       "true"},
      {"quantity('0.1n') == quantity('1n')", "true"},  // rounded up
      {"quantity('1E') == quantity('1000P') && quantity('1E3') == quantity('1k')", "true"},
      {"quantity('0.5Gi') == quantity('512Mi')", "true"},
      {"quantity('99999999999999999999Ei') == quantity('9223372036854775807')", "true"},
      {"quantity('1e400').add(1)", "error: the quantity is out of range"},
      {"quantity('9223372036854775807').add(9223372036854775807).sub(9223372036854775807) == "
       "quantity('9223372036854775807')",
       "true"},
      {"quantity('0').sub(-9223372036854775808) == quantity('9223372036854775808')", "true"},
      {"quantity('-99999999999999999999999999').sign()", "-1"},
      {"isQuantity('1.') && isQuantity('.5') && isQuantity('+1')", "true"},
      {"isQuantity('') || isQuantity('1 Gi') || isQuantity('1gi') || "
       "isQuantity('1e') || isQuantity('1.2.3')",
       "false"},
      {"quantity('many')", "error: `many` is no quantity"},
  });
}

TEST_F(CelFunctions, Versions) {
  expect_all({
      {"semver('4.20.1').minor() + semver('4.20.1').major() + semver('4.20.1').patch()", "25"},
      {"semver('1.2.3-rc.1').isLessThan(semver('1.2.3'))", "true"},
      {"semver('1.0.0-alpha.9').isLessThan(semver('1.0.0-alpha.10'))", "true"},
      {"semver('1.0.0-alpha').isLessThan(semver('1.0.0-alpha.1'))", "true"},
      {"semver('1.0.0-1').isLessThan(semver('1.0.0-alpha'))", "true"},
      {"semver('1.10.0').isGreaterThan(semver('1.9.0'))", "true"},
      {"semver('1.0.0+a') == semver('1.0.0+b')", "true"},
      {"semver('2.0.0').compareTo(semver('10.0.0'))", "-1"},
      {"semver('v4.20', true) == semver('4.20.0')", "true"},
      {"isSemver('4.20') || isSemver('v4.20.0') || isSemver('01.0.0') || isSemver('1.0.0-01')",
       "false"},
      {"isSemver('4.20', true) && isSemver('1.0.0-x.7.z.92+build')", "true"},
      {"semver('new')", "error: `new` is no semantic version"},
  });
}

TEST_F(CelFunctions, DurationsAndUrls) {
  expect_all({
      {"duration('1h30m') == duration('90m') && duration('1m') > duration('59.9s')", "true"},
      {"duration('1.5s') + duration('500ms') == duration('2s')", "true"},
      {"duration('90m').getHours() + duration('90m').getMinutes()", "91"},
      {"string(duration('1h')) + string(duration('-1500ms'))", "\"3600s-1.5s\""},
      {"duration('1')", "error: `1` is no duration"},
      {"duration('9999999999h')", "error: `9999999999h` is no duration"},
      {"isURL('https://example.com:8443/a?b=c') && isURL('/a/b') && isURL('mailto:x@y')", "true"},
      {"isURL('a/b') || isURL('') || isURL('https://a b/') || isURL('https://a:b/') || "
       "isURL('/%zz')",
       "false"},
      {"url('https://u:p@Example.com:8443/a%20b?x=1&x=2&y=%41+').getHost()",
       "\"Example.com:8443\""},
      {"url('https://[::1]:80/').getHostname() + url('https://[::1]:80/').getPort()", "\"::180\""},
      {"url('https://h/a%20b').getEscapedPath() + url('HTTPS://h').getScheme()", "\"/a%20bhttps\""},
      {"url('https://h/?x=1&x=2&y=%41+').getQuery()", "{\"x\":[\"1\",\"2\"],\"y\":[\"A \"]}"},
  });
}

TEST_F(CelFunctions, NamedFormats) {
  const auto valid = [&](const std::string& format, const std::string& text) {
    return show("format." + format + "().validate('" + text + "').hasValue()") == "false";
  };
  EXPECT_TRUE(valid("dns1123Label", "a-1"));
  EXPECT_FALSE(valid("dns1123Label", "A"));
  EXPECT_FALSE(valid("dns1123Label", std::string(64, 'a')));
  EXPECT_TRUE(valid("dns1123Subdomain", "a.b-c.d"));
  EXPECT_FALSE(valid("dns1123Subdomain", "a..b"));
  EXPECT_FALSE(valid("dns1123Subdomain", "a.-b"));
  EXPECT_FALSE(valid("dns1035Label", "1a"));
  EXPECT_TRUE(valid("dns1123LabelPrefix", "a-"));
  EXPECT_TRUE(valid("labelValue", ""));
  EXPECT_TRUE(valid("labelValue", "A_b.c-1"));
  EXPECT_FALSE(valid("labelValue", "-a"));
  EXPECT_TRUE(valid("qualifiedName", "example.com/My_name"));
  EXPECT_FALSE(valid("qualifiedName", "/x"));
  EXPECT_FALSE(valid("qualifiedName", "x/"));
  EXPECT_TRUE(valid("uri", "https://x/"));
  EXPECT_TRUE(valid("uuid", "123e4567-e89b-12d3-a456-426614174000"));
  EXPECT_FALSE(valid("uuid", "123e4567-e89b-12d3-a456-42661417400"));
  EXPECT_TRUE(valid("byte", "YWI="));
  EXPECT_FALSE(valid("byte", "YWI"));
  EXPECT_TRUE(valid("date", "2024-02-29"));
  EXPECT_FALSE(valid("date", "2023-02-29"));
  EXPECT_TRUE(valid("datetime", "2024-02-29T10:00:00.5+02:00"));
  EXPECT_FALSE(valid("datetime", "2024-02-29T24:00:00Z"));
  EXPECT_EQ(show("format.named('dns1123Label').value().validate('a').hasValue()"), "false");
  EXPECT_EQ(show("format.named('nothing').hasValue()"), "false");
  EXPECT_EQ(show("format.uuid().validate('x').orValue([])"),
            "[\"does not match the UUID format\"]");
}

TEST_F(CelFunctions, Optionals) {
  expect_all({
      {"optional.of(1).value() + optional.none().orValue(2)", "3"},
      {"optional.none().hasValue() || optional.of(1) == optional.of(2)", "false"},
      {"optional.none().value()", "error: the optional has no value"},
  });
}

TEST_F(CelFunctions, Dates) {
  expect_all({
      {"dates.ofSeconds(0) + dates.ofSeconds(-1)", "\"1970-01-011969-12-31\""},
      {"dates.ofSeconds(951782400)", "\"2000-02-29\""},
      {"dates.ofSeconds(253402300799)", "\"9999-12-31\""},
      {"dates.ofSeconds(253402300800)", "error: the year has no four digits"},
      {"dates.ofSeconds(-62135596800)", "\"0001-01-01\""},
      {"dates.ofSeconds(-62135596801)", "error: the year has no four digits"},
      {"dates.ofSeconds(9223372036854775807)", "error: the year has no four digits"},
      {"dates.day('1970-01-02')", "1"},
      {"dates.day('2024-02') - dates.day('2024-01-31')", "29"},
      {"dates.day('2023-02-29')", "error: `2023-02-29` is no date such as 2031-12-31"},
  });
}

TEST_F(CelFunctions, Encodings) {
  expect_all({
      {"base64.encode('hello')", "\"aGVsbG8=\""},
      {"base64.decode('aGVsbG8=') + base64.decode('aGVsbG8')", "\"hellohello\""},
      {"base64.decode('a')", "error: the text is no base64"},
      {"base64.decode('a-__')", "error: the text is no base64"},
      {"base64.decode('/w==')", "error: the decoded bytes are no UTF-8 text"},
      {"json.parse('{\"a\": [1, 2.5, null, true, \"x\"]}')", "{\"a\":[1,2.5,null,true,\"x\"]}"},
      {"json.parse('{\"auths\": {\"r\": {\"auth\": \"x\"}}}').auths.r.auth", "\"x\""},
      {"json.parse('[1,')", "error: the text is no acceptable JSON: it has an error at byte 4"},
      {"json.parse('{\"a\": 1, \"a\": 2}')",
       "error: the text is no acceptable JSON: it has the key `a` twice"},
      {"json.parse('" + std::string(100, '[') + "')",
       "error: the text is no acceptable JSON: it has deeper nesting than 64 levels"},
      {"json.encode({'b': [1, 2.5, null], 'a': true})", R"("{\"b\":[1,2.5,null],\"a\":true}")"},
      {"json.encode('x')", R"("\"x\"")"},
      {"json.encode(ip('::1'))", "error: JSON has no text for a value of this type"},
      {"shell.quote('')", "\"''\""},
      {"shell.quote('a b$c')", "\"'a b$c'\""},
      {R"(shell.quote("it's"))", R"("'it'\\''s'")"},
      {R"(shell.quote("'"))", R"("''\\'''")"},
      {"shell.quote('a\\nb')", R"("'a\nb'")"},
      {"sha256('')", "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\""},
      {"jwt.claims('e30.eyJpc3MiOiJ4IiwiZXhwIjo1fQ.sig')", "{\"iss\":\"x\",\"exp\":5}"},
      {"jwt.claims('a.b')", "error: the text is no JSON web token: it needs three parts"},
      {"jwt.claims('e30.W10.x')", "error: the text is no JSON web token: its payload is no object"},
  });
}

std::string ssh_field(const std::string& bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  std::string out;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    out.push_back(static_cast<char>((size >> shift) & 0xFFU));
  }
  return out + bytes;
}

TEST_F(CelFunctions, SshKeys) {
  const std::string ed25519 =
      base64_encode(ssh_field("ssh-ed25519") + ssh_field(std::string(32, 'k')));
  const std::string rsa = base64_encode(ssh_field("ssh-rsa") + ssh_field("\x01") +
                                        ssh_field(std::string(1, '\0') + std::string(384, '\xC0')));
  const std::string ecdsa = base64_encode(ssh_field("ecdsa-sha2-nistp384") + ssh_field("nistp384") +
                                          ssh_field(std::string(97, 'p')));
  expect_all({
      {"ssh.publicKey('ssh-ed25519 " + ed25519 + " me@host  ')",
       "{\"type\":\"ssh-ed25519\",\"valid\":true,\"bits\":256,\"comment\":\"me@host\"}"},
      {"ssh.publicKey('ssh-rsa " + rsa + "').bits", "3072"},
      {"ssh.publicKey('ecdsa-sha2-nistp384 " + ecdsa + "').bits", "384"},
      {"ssh.publicKey('ssh-rsa " + ed25519 + "').valid", "false"},
      {"ssh.publicKey('ssh-ed25519 " + ed25519.substr(0, 40) + "').valid", "false"},
      {"ssh.publicKey('ssh-ed25519 !!').valid", "false"},
      {"ssh.publicKey('').valid", "false"},
      {"ssh.publicKey(' 3').valid", "false"},
      {"ssh.publicKey(' 3 ').comment", "\"\""},
      {"ssh.publicKey('  no-pty ssh-ed25519 " + ed25519 + " me').comment", "\"me\""},
      {"ssh.publicKey('ssh-ed25519 " + ed25519 + " a\\nssh-rsa x').valid", "false"},
  });
}

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

/// A self-signed certificate for 2020 to 2030, as PEM.
std::string make_certificate() {
  const std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>> key(EVP_EC_gen("P-256"));
  const std::unique_ptr<X509, Deleter<X509_free>> certificate(X509_new());
  X509* const x = certificate.get();
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), 0x1234);
  ASN1_TIME_set_string(X509_getm_notBefore(x), "200101000000Z");
  ASN1_TIME_set_string(X509_getm_notAfter(x), "300102030405Z");
  X509_NAME* const name = X509_get_subject_name(x);
  const auto add = [&](const char* field, const char* value) {
    X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(value), -1, -1, 0);
  };
  add("O", "Example");
  add("CN", "registry.example.com");
  X509_set_issuer_name(x, name);
  X509_set_pubkey(x, key.get());
  for (const auto& [nid, value] :
       {std::pair{NID_basic_constraints, "critical,CA:TRUE"},
        std::pair{NID_subject_alt_name, "DNS:registry.example.com,IP:10.0.0.1"}}) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value);
    X509_add_ext(x, extension, -1);
    X509_EXTENSION_free(extension);
  }
  X509_sign(x, key.get(), EVP_sha256());
  const std::unique_ptr<BIO, Deleter<BIO_free_all>> bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), x);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

TEST_F(CelFunctions, Certificates) {
  const std::string pem = make_certificate();
  environment.variables = {{"bundle", Type::simple(TypeKind::string)}};
  values = {Value(arena.string("# comment\n" + pem + "\n" + pem))};
  expect_all({
      {"pem.certificates(bundle).size()", "2"},
      {"pem.certificates(bundle)[1]",
       "{\"subject\":\"CN=registry.example.com,O=Example\",\"issuer\":\"CN=registry.example.com,"
       "O=Example\",\"serial\":\"1234\",\"notBefore\":\"2020-01-01T00:00:00Z\",\"notAfter\":"
       "\"2030-01-02T03:04:05Z\",\"isCA\":true,\"dnsNames\":[\"registry.example.com\"]}"},
      {"pem.certificates('none')", "[]"},
      {"pem.certificates(bundle.substring(0, 100))", "error: certificate 1 has no end line"},
      {"pem.certificates(bundle.replace('MII', '!!!'))", "error: certificate 1 cannot be decoded"},
  });
}

TEST_F(CelFunctions, OthersMayBeAdded) {
  auto functions = std::make_shared<Functions>();
  Function place;
  place.name = "mig.place";
  place.params = {Type::map(Type::simple(TypeKind::string), Type::dyn()),
                  Type::simple(TypeKind::integer)};
  place.result = Type::simple(TypeKind::string);
  place.call = [](std::span<const Value> args, CallContext& context) -> Outcome {
    if (args[1].node().as_integer() < 0) return lib::fail("nothing to place");
    return lib::give(context.arena.string(std::string(args[0].node().get("name").as_string()) +
                                          "/" + std::to_string(args[1].node().as_integer())));
  };
  functions->add(place);
  Function twice;
  twice.name = "twice";
  twice.method = true;
  twice.params = {Type::simple(TypeKind::integer)};
  twice.result = Type::simple(TypeKind::integer);
  twice.call = [](std::span<const Value> args, CallContext&) {
    return lib::give(args[0].node().as_integer() * 2);
  };
  functions->add(twice);
  environment.functions = functions;
  environment.variables = {{"row", Type::dyn()}};
  const std::vector<yaml::Entry> row = {arena.entry("name", arena.string("h100"))};
  values = {Value(arena.map(row))};
  expect_all({
      {"mig.place({'name': 'a100'}, 3)", "\"a100/3\""},
      {"mig.place(row, 3)", "\"h100/3\""},
      {"mig.place(row, row.name)", "error: `mig.place` cannot take (map, string)"},
      {"mig.place(row, -1)", "error: nothing to place"},
      {"mig.place(1, 3)", "problem: `mig.place` cannot take (int, int)"},
      {"mig.plac(row, 3)", "problem: unknown function `mig.plac`"},
      {"4.twice()", "8"},
      {"size('abc')", "3"},  // the standard ones are still there
  });
  // A variable of the namespace's name hides the namespace.
  environment.variables.push_back({"mig", Type::dyn()});
  EXPECT_EQ(show("mig.place(row, 3)"), "problem: unknown function `place`");
  // The standard set itself did not change.
  EXPECT_EQ(Functions::standard()->table().find("mig.place", false), nullptr);
  Functions copy(*functions);
  Function more = twice;
  more.name = "thrice";
  copy.add(more);
  EXPECT_EQ(functions->table().find("thrice", true), nullptr);
  EXPECT_NE(copy.table().find("thrice", true), nullptr);
}

TEST_F(CelFunctions, EveryOneIsDocumented) {
  std::ifstream in(std::string(GPUCTL_SOURCE_DIR) + "/docs/cel.md");
  std::stringstream text;
  text << in.rdbuf();
  const std::string manual = text.str();
  std::set<std::string> signatures;
  const Functions::Table& table = Functions::standard()->table();
  for (const auto* names : {&table.functions, &table.methods}) {
    for (const auto& [name, overloads] : *names) {
      for (const auto& overload : overloads) signatures.insert(signature(*overload));
    }
  }
  for (const std::string& text_of_one : signatures) {
    EXPECT_NE(manual.find("`" + text_of_one + "`"), std::string::npos) << text_of_one;
  }
  // Each row's example, `expression` gives `JSON`, is true.
  std::size_t examples = 0;
  std::istringstream lines(manual);
  for (std::string line; std::getline(lines, line);) {
    const std::string arrow = "` gives `";
    const std::size_t at = line.find(arrow);
    if (line.empty() || line.front() != '|' || at == std::string::npos) continue;
    const std::size_t begin = line.rfind('`', at - 1) + 1;
    const std::size_t end = line.find('`', at + arrow.size());
    const std::string expected = line.substr(at + arrow.size(), end - at - arrow.size());
    EXPECT_EQ(show(line.substr(begin, at - begin)), expected) << line;
    ++examples;
  }
  EXPECT_GE(examples, 60U);
}

}  // namespace
}  // namespace gpuctl::cel

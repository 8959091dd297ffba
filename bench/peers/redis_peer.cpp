#include <hiredis/hiredis.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "peers.hpp"

namespace wallock::bench {
namespace {

constexpr const char* lease_ms = "30000";
// A waiter that is called looks again by itself after so many seconds, should it miss its turn.
constexpr const char* patience_s = "1";
constexpr auto poll_interval = std::chrono::milliseconds(1);

// How a waiter learns that the key is free.
enum class Waiting : std::uint8_t { called, polling };

// The lock with a fencing token.
constexpr std::string_view acquire_script =
    "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then "
    "return redis.call('INCR', KEYS[2]) else return 0 end";
constexpr std::string_view release_script =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) "
    "else return 0 end";
// The same, and an element for the waiter that has stood in BLPOP longest.
constexpr std::string_view release_and_call_script =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1], KEYS[2]) "
    "return redis.call('LPUSH', KEYS[2], 1) else return 0 end";

struct FreeReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

class Connection {
 public:
  explicit Connection(const std::string& socket) : context_(redisConnectUnix(socket.c_str())) {
    if (!context_ || context_->err != 0) give_up("redis", "cannot connect to " + socket);
  }

  // Puts a command into the pipeline; each gets a reply, in that order.
  void append(const std::vector<std::string_view>& words) {
    std::vector<const char*> starts;
    std::vector<std::size_t> lengths;
    for (const std::string_view word : words) {
      starts.push_back(word.data());
      lengths.push_back(word.size());
    }
    redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), starts.data(),
                           lengths.data());
  }
  // Sends what is in the pipeline and takes the next reply.
  Reply reply() {
    void* raw = nullptr;
    if (redisGetReply(context_.get(), &raw) != REDIS_OK) give_up("redis", context_->errstr);
    Reply reply(static_cast<redisReply*>(raw));
    if (reply->type == REDIS_REPLY_ERROR) give_up("redis", reply->str);
    return reply;
  }
  Reply run(const std::vector<std::string_view>& words) {
    append(words);
    return reply();
  }
  // The name that EVALSHA calls the script by.
  std::string load(std::string_view script) { return run({"SCRIPT", "LOAD", script})->str; }

 private:
  struct Free {
    void operator()(redisContext* context) const noexcept { redisFree(context); }
  };
  std::unique_ptr<redisContext, Free> context_;
};

class RedisLeases final : public LeaseClient {
 public:
  RedisLeases(const std::string& socket, std::string space, std::string who, bool calls,
              Waiting waiting)
      : redis_(socket),
        space_(std::move(space)),
        who_(std::move(who)),
        calls_(calls),
        waiting_(waiting),
        acquire_(redis_.load(acquire_script)),
        release_(redis_.load(calls ? release_and_call_script : release_script)) {}

  void acquire(const std::string& key) override {
    key_ = space_ + ":" + key;
    token_key_ = key_ + ":token";
    call_key_ = key_ + ":call";
    while (redis_.run({"EVALSHA", acquire_, "2", key_, token_key_, who_, lease_ms})->integer == 0)
      wait();
  }

  void release() override {
    const long long released =
        calls_ ? redis_.run({"EVALSHA", release_, "2", key_, call_key_, who_})->integer
               : redis_.run({"EVALSHA", release_, "1", key_, who_})->integer;
    if (released != 1) give_up("redis", "the lease was lost");
  }

 private:
  void wait() {
    if (waiting_ == Waiting::called) {
      redis_.run({"BLPOP", call_key_, patience_s});
    } else {
      std::this_thread::sleep_for(poll_interval);
    }
  }

  Connection redis_;
  std::string space_, who_;
  bool calls_;
  Waiting waiting_;
  std::string acquire_, release_, key_, token_key_, call_key_;
};

class RedisOutbox final : public OutboxClient {
 public:
  RedisOutbox(const std::string& socket, const std::string& space)
      : redis_(socket), stream_(space + ":stream"), row_prefix_(space + ":business:") {
    redis_.run({"UNLINK", stream_});
    redis_.run({"XGROUP", "CREATE", stream_, "relay", "$", "MKSTREAM"});
  }

  void enqueue(std::size_t messages) override {
    const std::string row = row_prefix_ + std::to_string(next_row_++);
    redis_.append({"MULTI"});
    redis_.append({"HSET", row, "cents", "995"});
    add(messages);
    redis_.append({"EXEC"});
    for (std::size_t i = 0; i < messages + 3; ++i)
      redis_.reply();
  }

  void fill(std::size_t messages) override {
    add(messages);
    for (std::size_t i = 0; i < messages; ++i)
      redis_.reply();
  }

  void claim(std::size_t messages) override {
    const std::string count = std::to_string(messages);
    const Reply reply = redis_.run(
        {"XREADGROUP", "GROUP", "relay", "worker-1", "COUNT", count, "STREAMS", stream_, ">"});
    claimed_.clear();
    if (reply->type == REDIS_REPLY_ARRAY) {
      const redisReply& entries = *reply->element[0]->element[1];
      for (std::size_t i = 0; i < entries.elements; ++i)
        claimed_.emplace_back(entries.element[i]->element[0]->str);
    }
    if (claimed_.size() != messages) give_up("redis", "too few messages");
  }

  void acknowledge() override {
    std::vector<std::string_view> words{"XACK", stream_, "relay"};
    words.insert(words.end(), claimed_.begin(), claimed_.end());
    redis_.run(words);
  }

 private:
  void add(std::size_t messages) {
    for (std::size_t i = 0; i < messages; ++i) {
      const std::string id = "payment-" + std::to_string(1'000'000 + next_id_++);
      redis_.append({"XADD", stream_, "*", "id", id, "payload", payload_});
    }
  }

  Connection redis_;
  std::string stream_, row_prefix_;
  std::string payload_ = message_payload();
  std::vector<std::string> claimed_;
  std::uint64_t next_row_ = 0, next_id_ = 0;
};

struct Server {
  std::string socket;
  std::string policy;
  std::string durability;
};

Peer redis_peer(const Server& server, Waiting waiting) {
  const bool called = waiting == Waiting::called;
  Peer peer{.name = "redis " + server.policy + (called ? "" : " polling"),
            .durable = server.policy == "always",
            .durability = server.durability,
            .waiting = called ? "BLPOP of an element that the release pushes, then SET NX again"
                              : "SET NX again every millisecond",
            .only_in_company = !called};
  if (server.socket.empty()) {
    peer.skipped = "skipped";
    return peer;
  }
  peer.lease = [socket = server.socket, waiting](const std::string& space, const std::string& who,
                                                 Company company) {
    const bool calls = company == Company::others && waiting == Waiting::called;
    return std::make_unique<RedisLeases>(socket, space + (calls ? "-called" : ""), who, calls,
                                         waiting);
  };
  if (peer.durable && called) {
    peer.outbox = [socket = server.socket](const std::string& space) {
      return std::make_unique<RedisOutbox>(socket, space);
    };
  }
  return peer;
}

}  // namespace

std::vector<Peer> redis_peers(const Places& places) {
  const Server always{places.redis_always, "always", "every write is flushed before its answer"};
  const Server everysec{places.redis_everysec, "everysec",
                        "a power cut takes back the last second, and tokens with it"};
  return {redis_peer(always, Waiting::called), redis_peer(always, Waiting::polling),
          redis_peer(everysec, Waiting::called), redis_peer(everysec, Waiting::polling)};
}

}  // namespace wallock::bench
